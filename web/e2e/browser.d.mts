export const BROWSER_PATH: string;
export const BROWSER_ARGS: readonly string[];
