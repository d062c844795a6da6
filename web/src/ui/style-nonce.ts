/** The nonce of the page, which the content security policy requires of style elements. Empty without a policy. */
export const styleNonce = (): string =>
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
