import { webcrypto } from "node:crypto";

import { expect, it } from "vitest";

import { signRequest } from "./sign";
import { uuidV7 } from "@/api/uuid-v7";

it("UUIDs are ordered by time", () => {
  const id = uuidV7(0x0123_4567_89ab);
  expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uuidV7(1) < uuidV7(2)).toBe(true);
});

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
