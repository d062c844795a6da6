// Compares the responses of the mock server with the interface descriptions in docs/openapi, so that no page is tested
// with a response that the real programs do not send.
import { readFileSync } from "node:fs";

import Ajv from "ajv/dist/2020.js";

const pointer = (...names) =>
  names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

// Of a stream, the description states the shape of a line.
const MEDIA_TYPES = ["application/json", "application/x-ndjson"];

/** Returns a function that describes what is wrong with a response of a program, or returns `undefined`. */
export function shapeCheck(program) {
  const file = new URL(`../../docs/openapi/${program}.json`, import.meta.url);
  const description = JSON.parse(readFileSync(file, "utf8"));
  // The document contains more than schemas, and formats of its own.
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema(description, program);
  const operations = Object.keys(description.paths)
    .map((path) => ({
      path,
      pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
      parameters: path.split("{").length,
    }))
    // `/loops/usage` before `/loops/{id}`.
    .sort((a, b) => a.parameters - b.parameters);
  const validators = new Map();

  /** Returns the validator of a response, `null` for a response without JSON, and `undefined` for an unknown operation. */
  const validatorOf = (method, pathname, status) => {
    const operation = operations.find(
      ({ path, pattern }) => pattern.test(pathname) && description.paths[path][method],
    );
    if (!operation) return undefined;
    const { responses } = description.paths[operation.path][method];
    // All errors have one shape, also those that a description does not list.
    const name = [String(status), "default", status >= 400 && "400"].find(
      (own) => own in responses,
    );
    if (!name) return undefined;
    const key = `${method} ${operation.path} ${name}`;
    if (!validators.has(key)) {
      const place = ["paths", operation.path, method, "responses", name];
      const type = MEDIA_TYPES.find((own) => responses[name].content?.[own]?.schema);
      const $ref = type && `${program}#${pointer(...place, "content", type, "schema")}`;
      validators.set(key, $ref ? ajv.compile({ $ref: encodeURI($ref) }) : null);
    }
    return validators.get(key);
  };

  return (method, pathname, status, body) => {
    const validate = validatorOf(method.toLowerCase(), pathname, status);
    if (validate === undefined)
      return `${program}.json has no ${method} ${pathname} with ${status}`;
    // As the page receives it, without `undefined` and dates.
    if (validate === null || validate(JSON.parse(JSON.stringify(body)))) return undefined;
    return `${method} ${pathname} ${status}: ${ajv.errorsText(validate.errors, { dataVar: "body" })}`;
  };
}
