/** The new-loop form, below what this machine lacks for loops. */
import { NewLoop } from "@/features/new-loop/views/new-loop";
import { MissingSetUp } from "@/features/set-up/views/set-up";

export function NewLoopPage() {
  return <NewLoop setUp={<MissingSetUp />} />;
}
