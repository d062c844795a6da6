begin
mkfifo package.json .gitattributes
mkdir -p .loopgate/work/.loopgate
for name in state.json plan.json prd.md execution-result.json judges.json orchestrator.log; do
  mkfifo ".loopgate/work/$name"
done
