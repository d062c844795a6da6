import { webcrypto } from "node:crypto";

import { expect, it } from "vitest";

import { signRequest } from "./sign";

it("signature covers the exact payload text", async () => {
  const pair = (await webcrypto.subtle.generateKey("Ed25519", false, ["sign", "verify"])) as {
    privateKey: CryptoKey;
    publicKey: CryptoKey;
  };
  const key = { fingerprint: "lg:x", publicKeyBase64: "", privateKey: pair.privateKey };
  const path = "/api/gateway/orchestrator/loop";
  const signed = await signRequest(key, { method: "POST", path, body: { command: "plan" } });
  const payload = JSON.parse(signed.signaturePayload) as Record<string, unknown>;
  expect(payload).toMatchObject({ commandId: signed.commandId, method: "POST", path, query: [] });
  // SHA-256 of {"command":"plan"}.
  expect(payload.bodyHash).toBe("2eH-jeWjgc1Q7FjBzjzR5CxHqgSk1VtahnysTLpXcBA");
  const text = new TextEncoder().encode(signed.signaturePayload);
  const signature = Uint8Array.from(atob(signed.signature), (char) => char.charCodeAt(0));
  expect(await webcrypto.subtle.verify("Ed25519", pair.publicKey, signature, text)).toBe(true);
});
