import { Link, linkOptions } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { FoundThing } from "../api/find.ts";

function addressOf(kind: string, id: string) {
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
    default:
      return linkOptions({ to: "/log", search: { stream: `${kind}-${id}` } });
  }
}

/** Leads to the screen of a thing; to its stream in the log where it has none. */
export function ThingLink({ thing: { kind, id }, children }: { thing: FoundThing; children: ReactNode }) {
  return <Link {...addressOf(kind, id)}>{children}</Link>;
}

const WORDS: Record<string, string> = { turn: "request", user: "member" };

/** What a thing is, in the words of the screens. */
export const nameOfKind = (kind: string): string => WORDS[kind] ?? kind;
