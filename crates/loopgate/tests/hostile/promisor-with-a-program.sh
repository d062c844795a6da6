begin
git remote add origin "ext::$MARK ext"
git config remote.origin.promisor true
git config extensions.partialClone origin
# The blob of the first commit is missing, so that a comparison requires a fetch.
blob=$(git rev-parse HEAD:a)
rm -f ".git/objects/$(echo "$blob" | cut -c1-2)/$(echo "$blob" | cut -c3-)"
