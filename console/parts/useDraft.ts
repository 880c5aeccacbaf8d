import { useState } from "react";

/** A text that this tab keeps until it is sent, because phones discard pages in the background. */
export function useDraft(name: string, initial = ""): [text: string, write: (text: string) => void] {
  const key = `draft ${name}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? initial);
  const write = (now: string) => {
    setText(now);
    if (now === "" || now === initial) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, now);
  };
  return [text, write];
}
