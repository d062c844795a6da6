# Names of backups.

# Prints the next free number below the directory $1.
next_number() {
    number=1
    while [ -e "$1/backup-$number" ]; do
        number=$((number + 1))
    done
    echo "$number"
}
