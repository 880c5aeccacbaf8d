import "./docs.css";
import { addCopyButtons } from "./copy.ts";
import { startSearch } from "./search.ts";

/** The theme chosen in the console. */
const theme = localStorage.getItem("console-theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;

startSearch(document.querySelector<HTMLFormElement>("form.search")!);
addCopyButtons();
