/** Signs commands for desktops that require signatures. */
import { v7 as uuidV7 } from "uuid";

import { base64Url, type BrowserKey, signText } from "./browser-key";
import { canonicalJson } from "./canonical-json";

/** The signed parts of a request to a desktop's gateway. */
export interface SignedRequest {
  method: string;
  path: string;
  body: unknown;
}

export interface CommandSignature {
  commandId: string;
  signature: string;
  signaturePayload: string;
  publicKeyFingerprint: string;
}

export async function signRequest(
  key: BrowserKey,
  request: SignedRequest,
): Promise<CommandSignature> {
  const commandId = uuidV7();
  const body = new TextEncoder().encode(canonicalJson(request.body));
  const signaturePayload = JSON.stringify({
    commandId,
    method: request.method,
    path: request.path,
    query: [],
    bodyHash: base64Url(await crypto.subtle.digest("SHA-256", body)),
    timestamp: Math.floor(Date.now() / 1000),
    // Keys, like this function, exist in secure contexts only.
    // eslint-disable-next-line no-restricted-properties
    nonce: crypto.randomUUID(),
  });
  return {
    commandId,
    signature: await signText(key, signaturePayload),
    signaturePayload,
    publicKeyFingerprint: key.fingerprint,
  };
}
