begin
git init -q -b main inner
git -C inner commit -q --allow-empty -m Inner
git -c protocol.file.allow=always submodule --quiet add "$PWD/inner" module
git commit -qm Module
git -C module config core.fsmonitor "$MARK submodule"
git config -f .gitmodules submodule.module.update "!$MARK submodule-update"
echo new > module/new
