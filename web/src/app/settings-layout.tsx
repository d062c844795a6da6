/** Layout of the settings pages, with one tab per page. */
import { getRouteApi, Link, Outlet } from "@tanstack/react-router";

import { SETTINGS } from "./destinations";

const route = getRouteApi("/$orgSlug/settings");

export function SettingsLayout() {
  const { orgSlug } = route.useParams();
  return (
    <div className="mx-auto max-w-4xl">
      <h1 className="text-xl font-semibold tracking-tight">Settings</h1>
      <nav aria-label="Settings" className="mt-4 border-b border-line">
        <ul className="-mb-px flex flex-wrap gap-x-5">
          {SETTINGS.map(({ to, label }) => (
            <li key={to}>
              <Link
                to={to}
                params={{ orgSlug }}
                className="inline-block border-b-2 border-transparent py-2 text-ink-2 hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink"
              >
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div data-page className="mt-6 space-y-8">
        <Outlet />
      </div>
    </div>
  );
}
