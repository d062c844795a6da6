// Runs before the first paint, so that a page never flashes in the wrong theme.
(function () {
  var theme = null;
  try {
    theme = window.localStorage.getItem("loopgate.theme");
  } catch {
    // Storage may be forbidden; the system's theme holds then.
  }
  if (theme !== "light" && theme !== "dark") {
    theme = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  document.documentElement.dataset.theme = theme;
})();
