/**
 * The key with which this browser signs commands.
 *
 * The private key is not extractable: scripts can sign with it but cannot read it. Keys are stored in the IndexedDB of
 * this origin, one per user.
 */
const DATABASE = "loopgate";
const STORE = "signing-keys";
const ALGORITHM = "Ed25519";
// Base64url characters of the digest in a fingerprint: 132 of 256 bits.
const DIGEST_CHARS = 22;

export interface BrowserKey {
  fingerprint: string;
  /** Raw public key, standard base64. */
  publicKeyBase64: string;
  privateKey: CryptoKey;
}

/** Returns the key of a user in this browser, if there is one. */
export async function loadBrowserKey(userId: string): Promise<BrowserKey | undefined> {
  return request<BrowserKey | undefined>("readonly", (store) => store.get(userId));
}

/** Creates the key of a user in this browser. Replaces an existing one. */
export async function createBrowserKey(userId: string): Promise<BrowserKey> {
  const pair = await crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
  const raw = await crypto.subtle.exportKey("raw", pair.publicKey);
  const digest = base64Url(await crypto.subtle.digest("SHA-256", raw));
  const key = {
    fingerprint: `lg:${digest.slice(0, DIGEST_CHARS)}`,
    publicKeyBase64: base64(raw),
    privateKey: pair.privateKey,
  };
  await request("readwrite", (store) => store.put(key, userId));
  return key;
}

/** Deletes the key of a user from this browser. */
export async function deleteBrowserKey(userId: string): Promise<void> {
  await request("readwrite", (store) => store.delete(userId));
}

/** Signs a text. Returns the signature in standard base64. */
export async function signText(key: BrowserKey, text: string): Promise<string> {
  return base64(
    await crypto.subtle.sign(ALGORITHM, key.privateKey, new TextEncoder().encode(text)),
  );
}

export function base64(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}

export function base64Url(bytes: ArrayBuffer): string {
  return base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function request<T>(
  mode: IDBTransactionMode,
  run: (store: IDBObjectStore) => IDBRequest,
): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await resultOf<IDBDatabase>(opening);
  try {
    return await resultOf<T>(run(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function resultOf<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result as T);
    request.onerror = () =>
      reject(request.error ?? new Error("The browser's storage returned an error."));
  });
}
