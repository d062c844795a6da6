// Blocking script in the head: sets the theme before the first paint, which avoids a flash of the wrong theme.
(function () {
  var theme = null;
  try {
    theme = window.localStorage.getItem("loopgate.theme");
  } catch {
    // Storage is denied: use the theme of the system.
  }
  if (theme !== "light" && theme !== "dark") {
    theme = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  document.documentElement.dataset.theme = theme;
})();
