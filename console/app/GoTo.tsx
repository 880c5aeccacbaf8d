import { useQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { findNames, findThings } from "../api/find.ts";
import { useRole } from "../api/useRole.ts";
import { hasScreen, nameOfKind, ThingLink, useOwnThread } from "../parts/ThingLink.tsx";
import { ErrorNotice } from "../parts/Notices.tsx";
import { useScreens } from "./useScreens.ts";
import { CloseDialog } from "./CloseDialog.tsx";

const DIALOG = "go-to";

export function openGoTo(): void {
  const dialog = document.querySelector<HTMLDialogElement>(`#${DIALOG}`);
  if (dialog && !dialog.open) dialog.showModal();
}

/** Shorter texts, and texts without a digit, are treated as names. */
const looksLikeId = (text: string): boolean => text.length >= 8 && /\d/.test(text);

/** Destinations for a text: the item with this id, and screens and items with this name. */
function usePlaces(text: string) {
  const role = useRole();
  const isId = role.isBuilder && looksLikeId(text);
  const found = useQuery({ ...findThings(text), enabled: isId });
  const named = useQuery({ ...findNames(text), enabled: text !== "" });
  const screens = useScreens().filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  const thread = found.data?.find(({ kind }) => kind === "thread");
  // which screen a thread opens in depends on whether it is the person's own
  const isThreadKnown = useOwnThread(thread?.id).isFetched || thread === undefined;
  const isIdKnown = !isId || (!found.isPending && isThreadKnown);
  return {
    ids: found.data ?? [],
    screens,
    things: text === "" ? [] : (named.data?.data ?? []),
    hasMore: text !== "" && named.data?.has_more === true,
    isId,
    // Screens come before items, so they do not wait for them. Items of a shorter text stay until the new ones arrive.
    isKnown: isIdKnown && (screens.length > 0 || text === "" || !(named.isPending || named.isPlaceholderData)),
    error: found.error ?? named.error,
  };
}

const nothingFound = (isId: boolean): string =>
  `No screen, agent, collection, workflow, member or key that you may see has this name${isId ? ", and nothing has this id" : ""}.`;

/** Everybody finds their own questions; builders find all. */
const Questions = ({ words }: { words: string }) => (
  <li>
    <Link to="/requests" search={{ words }}>
      Requests <span className="quiet">whose question has these words</span>
    </Link>
  </li>
);

function Places({ text, wanted }: { text: string; wanted: string | undefined }) {
  const list = useRef<HTMLUListElement>(null);
  const { ids, screens, things, hasMore, isId, isKnown, error } = usePlaces(text);
  const { isAdmin } = useRole();
  const isNothing = ids.length + screens.length + things.length === 0;
  // Enter opens the first destination, even if it is known only later
  useEffect(() => {
    if (isKnown && wanted === text) list.current?.querySelector("a")?.click();
  }, [isKnown, wanted, text]);
  return (
    <>
      <ul className="plain places" ref={list}>
        {ids.map((thing) => (
          <li key={thing.kind + thing.id}>
            <ThingLink thing={thing}>
              {nameOfKind(thing.kind)} <span className="mono">{thing.id}</span>
            </ThingLink>
            {!isAdmin && !hasScreen(thing) && <span className="quiet">, which administrators see in the log</span>}
          </li>
        ))}
        {screens.map(({ to, name }) => (
          <li key={to}>
            <Link to={to}>{name}</Link>
          </li>
        ))}
        {things.map((thing) => (
          <li key={thing.kind + thing.id}>
            <ThingLink thing={thing}>
              {thing.name} <span className="quiet">{nameOfKind(thing.kind)}</span>
            </ThingLink>
          </li>
        ))}
        {/* not while an id is looked up: the found item would replace the link just when it is clicked */}
        {text !== "" && ids.length === 0 && (isKnown || !isId) && <Questions words={text} />}
      </ul>
      <p className="quiet" role="status">
        {!isKnown && "Looking for it…"}
        {isKnown && isNothing && !error && nothingFound(isId)}
        {hasMore && "More have this in their name: write more of it."}
      </p>
      {error && <ErrorNotice error={error} />}
    </>
  );
}

/** Arrow keys move between the field and the destinations, and stop at both ends. */
function movePlace(event: KeyboardEvent<HTMLDialogElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, .places a")];
  stops[stops.findIndex((stop) => stop === document.activeElement) + step]?.focus();
}

/** Opens a screen or an item by its name, or an item by its id. Ctrl-K, Cmd-K or a button opens the dialog. */
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
    <dialog
      ref={dialog}
      id={DIALOG}
      className="go-to"
      aria-labelledby="go-to-title"
      onClose={close}
      onKeyDown={movePlace}
    >
      <h2 id="go-to-title">Go to</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setWanted(text.trim());
        }}
      >
        <label>
          {isBuilder
            ? "What it is called, words that were asked, or any id: of a request, x-request-id, a trace, a conversation, a run…"
            : "What it is called, or words that were asked"}
          <input type="search" maxLength={300} value={text} onChange={({ target }) => setText(target.value)} />
        </label>
      </form>
      <Places text={text.trim()} wanted={wanted} />
      <CloseDialog />
    </dialog>
  );
}
