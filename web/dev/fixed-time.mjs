// Stops the clock of the mock server at MOCK_TIME, for screenshots: `node --import ./dev/fixed-time.mjs`.
const fixed = Date.parse(process.env.MOCK_TIME ?? "");

globalThis.Date = class extends Date {
  constructor(...args) {
    super(...(args.length > 0 ? args : [fixed]));
  }

  static now() {
    return fixed;
  }
};
