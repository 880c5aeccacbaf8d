import { useState } from "react";

const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const KEY = "console-theme";

const stored = (): Theme => THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "system";

function apply(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
apply(stored());

/** The theme of this browser, and a function that switches to the next one. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState(stored);
  const next = () => {
    const chosen = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
    localStorage.setItem(KEY, chosen);
    apply(chosen);
    setTheme(chosen);
  };
  return [theme, next];
}
