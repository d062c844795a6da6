/** The form for a change request, below what this machine lacks for loops. */
import { NewChangeRequest } from "@/features/new-change-request/views/new-change-request";
import { MissingSetUp } from "@/features/set-up/views/set-up";

export function NewChangeRequestPage() {
  return <NewChangeRequest setUp={<MissingSetUp />} />;
}
