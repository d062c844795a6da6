const KEY = "theme";

/** The theme to begin with: what was chosen last, else what the system prefers. */
export function firstTheme(chosen, prefersDark) {
  if (chosen === "dark" || chosen === "light") {
    return chosen;
  }
  return prefersDark ? "dark" : "light";
}

/** The theme after a press of the switch. */
export function otherTheme(theme) {
  return theme === "dark" ? "light" : "dark";
}

function apply(theme, button) {
  document.documentElement.dataset.theme = theme;
  button.setAttribute("aria-pressed", String(theme === "dark"));
}

if (typeof document !== "undefined") {
  const button = document.querySelector("#theme");
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  let theme = firstTheme(localStorage.getItem(KEY), dark);
  apply(theme, button);
  button.addEventListener("click", () => {
    theme = otherTheme(theme);
    localStorage.setItem(KEY, theme);
    apply(theme, button);
  });
}
