echo 2 > a
