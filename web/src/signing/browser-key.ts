/**
 * The key with which this browser signs commands.
 *
 * The private part cannot be read by anybody, us included: the browser only signs with it. It lies in the storage of
 * our origin, one for each person who signs in here.
 */
const DATABASE = "loopgate";
const STORE = "signing-keys";
const ALGORITHM = "Ed25519";
/** Characters of the digest in a fingerprint. */
const DIGEST_CHARS = 22;

export interface BrowserKey {
  fingerprint: string;
  /** Raw, standard base64. */
  publicKeyBase64: string;
  privateKey: CryptoKey;
}

/** The key of a person in this browser, when there is one. */
export async function loadBrowserKey(userId: string): Promise<BrowserKey | undefined> {
  return request<BrowserKey | undefined>("readonly", (store) => store.get(userId));
}

/** Makes the key of a person in this browser; an earlier one is replaced. */
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

/** Forgets the key of a person in this browser. */
export async function forgetBrowserKey(userId: string): Promise<void> {
  await request("readwrite", (store) => store.delete(userId));
}

/** Signs a text; standard base64. */
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
  const database = await settled<IDBDatabase>(opening);
  try {
    return await settled<T>(run(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function settled<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result as T);
    request.onerror = () => reject(request.error ?? new Error("The browser's storage failed."));
  });
}
