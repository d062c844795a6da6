/** The list of loops. A user without loops also sees what this machine lacks for them. */
import { SetUpPanel } from "@/features/set-up/views/set-up";
import { LoopsList } from "@/features/loop-list/views/loops-list";

export function LoopsPage() {
  return <LoopsList setUp={<SetUpPanel />} />;
}
