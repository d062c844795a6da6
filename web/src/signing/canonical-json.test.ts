import { expect, it } from "vitest";

import { canonicalJson } from "./canonical-json";

it("serializes values in the form that the desktop hashes", () => {
  const cases: [unknown, string][] = [
    [undefined, "null"],
    [[1.0, 0.1, -0, 1e21, 1e-7, 123456789], "[1,0.1,0,1e+21,1e-7,123456789]"],
    [{ b: 1, a: { d: [], c: null } }, '{"a":{"c":null,"d":[]},"b":1}'],
    [{ "\ufb33": 1, "\u{1f600}": 2, é: 3 }, '{"é":3,"\u{1f600}":2,"\ufb33":1}'],
    ['a"\\\b\n\u001f/é', '"a\\"\\\\\\b\\n\\u001f/é"'],
    [{ a: undefined }, '{"a":null}'],
  ];
  for (const [value, text] of cases) expect(canonicalJson(value)).toBe(text);
});
