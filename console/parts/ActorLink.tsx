import { useQuery } from "@tanstack/react-query";
import { listAllKeys } from "../api/keys.ts";
import { listAllMembers } from "../api/members.ts";
import type { Actor } from "../api/types.ts";
import { useRole } from "../api/useRole.ts";
import { shortId } from "../format/index.ts";
import { ThingLink } from "./ThingLink.tsx";
import { useFormerNames } from "./useFormerNames.ts";

const WORDS: Record<Actor["type"], string> = {
  person: "person",
  api_key: "API key",
  webhook: "webhook",
  schedule: "schedule",
  run: "run",
  system: "the service",
  link: "a link to the approval",
};
const KINDS: Partial<Record<Actor["type"], string>> = { person: "user", api_key: "key", run: "run" };

/** The name that the service sent, or the name of the member or key with the id. For a removed member, the description from the log. */
function useName({ type, id, name }: Actor): string | undefined {
  const { isAdmin } = useRole();
  const isUnknown = (name ?? undefined) === undefined;
  const members = useQuery({ ...listAllMembers, enabled: isUnknown && type === "person" });
  const keys = useQuery({ ...listAllKeys, enabled: isUnknown && type === "api_key" && isAdmin });
  const listed = type === "person" ? members.data?.data : type === "api_key" ? keys.data?.data : undefined;
  const found = name ?? listed?.find((one) => one.id === id)?.name;
  const former = useFormerNames(type === "person" && isUnknown && members.data !== undefined && found === undefined);
  return found ?? former.get(id);
}

/** The actor, with a link for those who may follow it. The title is the complete id. */
export function ActorLink({ actor }: { actor: Actor }) {
  const { isAdmin } = useRole();
  const { type, id } = actor;
  const name = useName(actor);
  const kind = KINDS[type];
  const text = (
    <span title={kind && id}>
      {name ?? WORDS[type]}
      {!name && kind && <span className="mono"> {shortId(id)}</span>}
    </span>
  );
  return kind && (isAdmin || type === "run") ? <ThingLink thing={{ kind, id }}>{text}</ThingLink> : text;
}

/** The name of a person or a key as text, for use inside another link. Empty for the service itself. */
export function PrincipalName({ principal }: { principal: string }) {
  const [kind = "", id = ""] = principal.split(":", 2);
  const type = kind === "key" ? "api_key" : kind === "person" ? kind : "system";
  const name = useName({ type, id });
  return type === "system" ? null : <>{name ?? `${WORDS[type]} ${shortId(id)}`}</>;
}

/** The actor as the log writes it: `person:<id>`, `key:<id>`, or a word. */
export function PrincipalLink({ principal }: { principal: string }) {
  const [kind = "", id] = principal.split(":", 2);
  if (id === undefined || (kind !== "person" && kind !== "key")) return <span className="mono">{principal}</span>;
  return <ActorLink actor={{ type: kind === "key" ? "api_key" : kind, id }} />;
}
