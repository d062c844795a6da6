import { Link } from "@tanstack/react-router";

import { buttonClass } from "@/ui/button";
import { usePageTitle } from "@/ui/page-title";

import { CenteredPage } from "./centered-page";

export function SignedOut() {
  usePageTitle("Signed out");
  return (
    <CenteredPage title="You are signed out">
      <p>
        To come back, run the command that started Loopgate once more, on the same machine: it opens
        a fresh link (a demo prints a command of its own for that). Loops that are running go on
        without you.
      </p>
      <Link to="/sign-in" className={buttonClass("primary")}>
        Sign in
      </Link>
      <Link to="/" className={buttonClass("plain")}>
        I have signed in elsewhere
      </Link>
    </CenteredPage>
  );
}
