import { v5 as uuidV5 } from "uuid";

const NAMESPACE = "5c2dfa84-3637-4b05-88e9-b5bce855cbbb";

/** Returns the same UUID for the same text. */
export const contentId = (text: string): string =>
  // Encoded here, because the package rejects texts with half of a surrogate pair.
  uuidV5(new TextEncoder().encode(text), NAMESPACE);
