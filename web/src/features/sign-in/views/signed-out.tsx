import { Link } from "@tanstack/react-router";

import { buttonClass } from "@/ui/button";
import { usePageTitle } from "@/ui/page-title";

import { CenteredPage } from "./centered-page";

export function SignedOut() {
  usePageTitle("Signed out");
  return (
    <CenteredPage title="You are signed out">
      <p>
        To sign in again, run the command that started Loopgate again, on the same machine: it opens
        a new sign-in link (the demo prints a separate command for this). Running loops continue.
      </p>
      <Link to="/sign-in" className={buttonClass("primary")}>
        Sign in
      </Link>
      <Link to="/" className={buttonClass("plain")}>
        I am already signed in
      </Link>
    </CenteredPage>
  );
}
