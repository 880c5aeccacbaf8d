import { useRef, useState } from "react";

function store(name: string, text: string): void {
  const key = `draft ${name}`;
  if (text === "") sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, text);
}

interface Draft {
  text: string;
  write(text: string): void;
  /** The newest text, for an action that began with an earlier one. */
  newest(): string;
  /** Goes on with a text under another name, for the field that replaces this one. */
  moveTo(name: string, text: string): void;
}

/** A text that this tab keeps until it is sent, because phones discard pages in the background. */
export function useDraft(name: string, initial = ""): Draft {
  const [text, setText] = useState(() => sessionStorage.getItem(`draft ${name}`) ?? initial);
  const latest = useRef(text);
  const moved = useRef<string>(undefined);
  const write = (now: string) => {
    latest.current = now;
    setText(now);
    store(moved.current ?? name, now === initial ? "" : now);
  };
  const moveTo = (other: string, now: string) => {
    store(name, "");
    moved.current = other;
    write(now);
  };
  return { text, write, newest: () => latest.current, moveTo };
}
