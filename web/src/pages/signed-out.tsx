import { Link } from "@tanstack/react-router";

import { buttonClass } from "@/ui/button";
import { Code } from "@/ui/code";
import { usePageTitle } from "@/ui/page-title";

import { Doorway } from "./doorway";

export function SignedOut() {
  usePageTitle("Signed out");
  return (
    <Doorway title="You are signed out">
      <p>
        To come back, start <Code>loopgate up</Code> again on the machine where Loopgate runs and
        open the link that it prints. Loops that are running go on without you.
      </p>
      <Link to="/" className={buttonClass("plain")}>
        I have signed in elsewhere
      </Link>
    </Doorway>
  );
}
