import { useQuery } from "@tanstack/react-query";
import { Link, linkOptions } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { getThread } from "../api/chat.ts";
import { findThings, type FoundThing } from "../api/find.ts";
import { useRole } from "../api/useRole.ts";

/** The screen of an item; undefined if it has none. */
function screenOf(kind: string, id: string) {
  switch (kind) {
    case "turn":
      return linkOptions({ to: "/requests/$turnId", params: { turnId: id } });
    case "run":
      return linkOptions({ to: "/runs/$runId", params: { runId: id } });
    case "approval":
      return linkOptions({ to: "/inbox/$approvalId", params: { approvalId: id } });
    case "document":
      return linkOptions({ to: "/knowledge/documents/$documentId", params: { documentId: id } });
    case "collection":
      return linkOptions({ to: "/knowledge/$collection", params: { collection: id } });
    case "agent":
      return linkOptions({ to: "/agents/$agentId", params: { agentId: id } });
    case "workflow":
      return linkOptions({ to: "/workflows/$workflowId", params: { workflowId: id } });
    case "definition":
      return linkOptions({ to: "/definitions/$definitionId", params: { definitionId: id } });
    case "key":
      return linkOptions({ to: "/keys/$keyId", params: { keyId: id } });
    case "user":
      return linkOptions({ to: "/members/$memberId", params: { memberId: id } });
    case "extraction":
      return linkOptions({ to: "/extractions/$extractionId", params: { extractionId: id } });
    default:
      return undefined;
  }
}

/** Whether an item has a link for everybody. A link into the log is only for administrators. */
export const hasScreen = ({ kind, id }: FoundThing): boolean => kind === "thread" || screenOf(kind, id) !== undefined;

interface Props {
  thing: FoundThing;
  children: ReactNode;
}

/** A conversation, if it is the person's own. */
export const useOwnThread = (id: string | undefined) =>
  useQuery({ ...getThread(id ?? ""), enabled: id !== undefined, retry: false, refetchInterval: false });

/** Links a person's own conversation to the chat. Conversations of others are found in their requests or in the log. */
function ThreadLink({ thing, children }: Props) {
  const { isAdmin } = useRole();
  const { id } = thing;
  const own = useOwnThread(id);
  if (own.isSuccess)
    return (
      <Link to="/chat/$threadId" params={{ threadId: id }}>
        {children}
      </Link>
    );
  if (isAdmin) return <StreamLink thing={thing}>{children}</StreamLink>;
  return (
    <Link to="/requests" search={{ thread: id }}>
      {children}
    </Link>
  );
}

const StreamLink = ({ thing: { kind, id }, children }: Props) => (
  <Link to="/log" search={{ stream: `${kind}-${id}` }}>
    {children}
  </Link>
);

/** Links to the screen of an item. If it has none, the link leads administrators to its stream in the log, and others see plain text. */
export function ThingLink({ thing, children }: Props) {
  const { isAdmin } = useRole();
  const screen = screenOf(thing.kind, thing.id);
  if (screen) return <Link {...screen}>{children}</Link>;
  if (thing.kind === "thread") return <ThreadLink thing={thing}>{children}</ThreadLink>;
  return isAdmin ? <StreamLink thing={thing}>{children}</StreamLink> : children;
}

/** An id of unknown kind, such as a trace id. It becomes a link once the service has found the item. */
export function FoundLink({ id }: { id: string }) {
  const found = useQuery(findThings(id));
  const [thing] = found.data ?? [];
  const text = <span className="mono">{id}</span>;
  return thing ? <ThingLink thing={thing}>{text}</ThingLink> : text;
}

const WORDS: Record<string, string> = { turn: "request", user: "member", thread: "conversation" };

/** The kind of an item in the words of the screens. */
export const nameOfKind = (kind: string): string => WORDS[kind] ?? kind;
