import { useQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { findThings } from "../api/find.ts";
import { useRole } from "../api/useRole.ts";
import { nameOfKind, ThingLink } from "../parts/ThingLink.tsx";
import { ErrorNotice } from "../parts/Notices.tsx";
import { useScreens } from "./useScreens.ts";
import { CloseDialog } from "./CloseDialog.tsx";

const DIALOG = "go-to";

export function openGoTo(): void {
  const dialog = document.querySelector<HTMLDialogElement>(`#${DIALOG}`);
  if (dialog && !dialog.open) dialog.showModal();
}

/** Shorter texts, and those without a digit, are names of screens. */
const looksLikeId = (text: string): boolean => text.length >= 8 && /\d/.test(text);

/** Where a text leads: to screens of that name, and to what an id names. */
function Places({ text, wanted }: { text: string; wanted: string | undefined }) {
  const list = useRef<HTMLUListElement>(null);
  const { isBuilder } = useRole();
  const isId = isBuilder && looksLikeId(text);
  const found = useQuery({ ...findThings(text), enabled: isId });
  const screens = useScreens().filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  const isKnown = !isId || found.data !== undefined;
  // Enter leads to the first place, also if it is known only later
  useEffect(() => {
    if (isKnown && wanted === text) list.current?.querySelector("a")?.click();
  }, [isKnown, wanted, text]);
  return (
    <>
      <ul className="plain places" ref={list}>
        {found.data?.map((thing) => (
          <li key={thing.kind + thing.id}>
            <ThingLink thing={thing}>
              {nameOfKind(thing.kind)} <span className="mono">{thing.id}</span>
            </ThingLink>
          </li>
        ))}
        {screens.map(({ to, name }) => (
          <li key={to}>
            <Link to={to}>{name}</Link>
          </li>
        ))}
      </ul>
      <p className="quiet" role="status">
        {isId && found.isPending && "Looking for it…"}
        {isKnown && screens.length === 0 && !found.data?.length && "Nothing of the organization has this name or id."}
      </p>
      {found.isError && <ErrorNotice error={found.error} />}
    </>
  );
}

/** Goes to a screen by its name, and to anything by its id: Ctrl-K, Cmd-K or a button opens it. */
export function GoTo() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [wanted, setWanted] = useState<string>();
  const { isBuilder } = useRole();
  const router = useRouter();
  useEffect(() => router.subscribe("onBeforeNavigate", () => dialog.current?.close()), [router]);
  const close = () => {
    setText("");
    setWanted(undefined);
  };
  return (
    <dialog ref={dialog} id={DIALOG} className="go-to" aria-labelledby="go-to-title" onClose={close}>
      <h2 id="go-to-title">Go to</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setWanted(text.trim());
        }}
      >
        <label>
          {isBuilder ? "A screen, or any id: of a request, x-request-id, a trace, a conversation, a run…" : "A screen"}
          <input type="search" maxLength={300} value={text} onChange={({ target }) => setText(target.value)} />
        </label>
      </form>
      <Places text={text.trim()} wanted={wanted} />
      <CloseDialog />
    </dialog>
  );
}
