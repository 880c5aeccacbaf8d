import { useNavigate } from "@tanstack/react-router";
import { Fragment, useEffect, useRef } from "react";
import { openGoTo } from "./GoTo.tsx";
import { SCREENS } from "./screens.ts";
import { CloseDialog } from "./CloseDialog.tsx";

/** Time between `g` and the letter of a screen. */
const SEQUENCE_MS = 1_500;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Moves the focus among the rows of the screen's list, excluding rows of a panel beside it. */
function moveRow(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]:not(.peek *)")];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}

/** Focuses the screen's filter. Esc in the filter returns to the previous focus, or to the first row if that is gone. */
function visitFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLElement>("[data-filter=true]");
  if (!filter) return;
  event.preventDefault();
  const before = document.activeElement;
  filter.focus();
  const leave = (key: KeyboardEvent) => {
    if (key.key !== "Escape") return;
    // Esc neither clears the filter nor closes the panel beside the list
    key.preventDefault();
    key.stopPropagation();
    filter.blur();
    if (before instanceof HTMLElement && before !== document.body && before.isConnected) before.focus();
    else if (before !== document.body) moveRow(0);
  };
  filter.addEventListener("keydown", leave);
  filter.addEventListener("blur", () => filter.removeEventListener("keydown", leave), { once: true });
}

/** Handles the keyboard shortcuts, and lists them on `?`. */
export function Shortcuts() {
  const navigate = useNavigate();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let pressedG = 0;
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "k") {
        event.preventDefault();
        openGoTo();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const screen = SCREENS.find(({ letter }) => letter === event.key);
      if (screen && event.timeStamp - pressedG < SEQUENCE_MS) void navigate({ to: screen.to });
      else if (event.key === "j") moveRow(1);
      else if (event.key === "k") moveRow(-1);
      else if (event.key === "?") dialog.current?.showModal();
      else if (event.key === "/") visitFilter(event);
      pressedG = event.key === "g" ? event.timeStamp : 0;
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [navigate]);
  return (
    <dialog ref={dialog} aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <dl className="keys">
        {SCREENS.map(({ name, letter }) => (
          <Fragment key={letter}>
            <dt>g, then {letter}</dt>
            <dd>{name}</dd>
          </Fragment>
        ))}
        <dt>j, k</dt>
        <dd>Next and previous row</dd>
        <dt>Enter</dt>
        <dd>Open the row, or show it beside the list</dd>
        <dt>Esc</dt>
        <dd>Back to the list alone</dd>
        <dt>/</dt>
        <dd>Filter; Esc goes back</dd>
        <dt>Ctrl-K, ⌘K</dt>
        <dd>Go to a screen, or to anything by its id</dd>
        <dt>?</dt>
        <dd>These keys</dd>
      </dl>
      <CloseDialog />
    </dialog>
  );
}
