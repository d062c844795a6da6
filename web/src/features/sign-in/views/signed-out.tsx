import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect } from "react";

import { onSignedInElsewhere } from "@/api/session-key";

import { buttonClass } from "@/ui/button";
import { usePageTitle } from "@/ui/page-title";

import { keepReturnPath } from "../model/return-to";
import { CenteredPage } from "./centered-page";

const route = getRouteApi("/signed-out");

export function SignedOut() {
  usePageTitle("Signed out");
  const search = route.useSearch();
  const { returnTo = "/" } = search;
  // A sign-in link opens in another tab.
  useEffect(() => onSignedInElsewhere(() => window.location.replace(returnTo)), [returnTo]);
  // A person may open the link in this tab, too.
  useEffect(() => keepReturnPath(returnTo), [returnTo]);
  return (
    <CenteredPage title="You are signed out">
      <p>
        To sign in again, run the command that started Loopgate again, on the same machine: it opens
        a new sign-in link (the demo prints a separate command for this). Running loops continue.
      </p>
      <Link to="/sign-in" search={search} className={buttonClass("primary")}>
        Sign in
      </Link>
      <a href={returnTo} className={buttonClass("plain")}>
        I am already signed in
      </a>
    </CenteredPage>
  );
}
