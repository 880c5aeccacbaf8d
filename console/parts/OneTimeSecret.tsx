import { useId, useRef, useState, type ReactNode } from "react";
import "./oneTimeSecret.css";

interface Props {
  title: string;
  secret: string;
  children: ReactNode;
}

/** A secret that no later answer of the service returns. */
export function OneTimeSecret({ title, secret, children }: Props) {
  const id = useId();
  const text = useRef<HTMLElement>(null);
  // another secret in the same place is not copied yet
  const [copied, setCopied] = useState<string>();
  const copy = async () => {
    // for plain http, which has no clipboard, and for browsers that refuse access
    if (text.current) getSelection()?.selectAllChildren(text.current);
    // undefined on plain http, although its type does not show that
    const clipboard = navigator.clipboard as Clipboard | undefined;
    await clipboard?.writeText(secret).then(
      () => setCopied(secret),
      () => {},
    );
  };
  return (
    <section className="notice good shown-once" role="status" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p>
        <code ref={text}>{secret}</code>
      </p>
      <button type="button" className="button" onClick={() => void copy()}>
        {copied === secret ? "Copied" : "Copy"}
      </button>
      <p>
        <strong>It is shown only now.</strong> {children}
      </p>
    </section>
  );
}
