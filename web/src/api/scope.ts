/**
 * The organization and machine of a page, a context value of its routes.
 *
 * Every request names the organization and every cache key begins with both, so that a page cannot show the data of
 * another organization.
 */
import { useRouteContext } from "@tanstack/react-router";

import { type Api, clientOf } from "./client";

/** The machine that runs the browser: pages read the gateway there. */
const THIS_MACHINE = "this-machine";

export interface Scope {
  /** Slug, as in the address. */
  organization: string;
  machine: string;
  /** Client whose requests name the organization. */
  api: Api;
  /** Returns the cache key with these members. */
  key: ReturnType<typeof keys>;
}

/** Returns the function that creates the cache keys of an organization and machine. */
const keys =
  (organization: string, machine: string) =>
  <Members extends readonly unknown[]>(...members: Members) =>
    [organization, machine, ...members] as const;

const scopes = new Map<string, Scope>();

/** Returns the scope of an organization: always the same object, so that effects which depend on it do not restart. */
export function scopeOf(organization: string): Scope {
  const known = scopes.get(organization);
  if (known) return known;
  const scope = {
    organization,
    machine: THIS_MACHINE,
    api: clientOf(organization),
    key: keys(organization, THIS_MACHINE),
  };
  scopes.set(organization, scope);
  return scope;
}

/** Returns the scope of the page. */
export const useScope = (): Scope =>
  useRouteContext({ from: "/$orgSlug", select: ({ scope }) => scope });
