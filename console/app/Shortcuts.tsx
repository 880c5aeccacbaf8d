import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

/** Time between `g` and the letter of a screen. */
const SEQUENCE_MS = 1_500;
const SCREENS = {
  h: "/",
  c: "/chat",
  i: "/inbox",
  q: "/requests",
  r: "/runs",
  k: "/knowledge",
  l: "/log",
} as const;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Moves the focus among the rows of the list on the screen. */
function moveRow(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}

/** Listens to the keys, and lists them on `?`. */
export function Shortcuts() {
  const navigate = useNavigate();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let pressedG = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const screen = SCREENS[event.key as keyof typeof SCREENS];
      if (screen && event.timeStamp - pressedG < SEQUENCE_MS) void navigate({ to: screen });
      else if (event.key === "j") moveRow(1);
      else if (event.key === "k") moveRow(-1);
      else if (event.key === "?") dialog.current?.showModal();
      else if (event.key === "/") {
        const filter = document.querySelector<HTMLElement>("[data-filter]");
        if (!filter) return;
        event.preventDefault();
        filter.focus();
      }
      pressedG = event.key === "g" ? event.timeStamp : 0;
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [navigate]);
  return (
    <dialog ref={dialog} aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <dl className="keys">
        <dt>g, then h</dt>
        <dd>Home</dd>
        <dt>g, then c</dt>
        <dd>Chat</dd>
        <dt>g, then i</dt>
        <dd>Inbox</dd>
        <dt>g, then q</dt>
        <dd>Requests</dd>
        <dt>g, then r</dt>
        <dd>Runs</dd>
        <dt>g, then k</dt>
        <dd>Knowledge</dd>
        <dt>g, then l</dt>
        <dd>Log</dd>
        <dt>j, k</dt>
        <dd>Next and previous row</dd>
        <dt>Enter</dt>
        <dd>Open the row</dd>
        <dt>/</dt>
        <dd>Filter</dd>
        <dt>?</dt>
        <dd>These keys</dd>
      </dl>
      <form method="dialog">
        <button type="submit" className="button">
          Close
        </button>
      </form>
    </dialog>
  );
}
