import { Link } from "@tanstack/react-router";
import type { Actor } from "../api/types.ts";
import { useRole } from "../api/useRole.ts";
import { shortId } from "../format/index.ts";

const WORDS: Record<Actor["type"], string> = {
  person: "person",
  api_key: "API key",
  webhook: "webhook",
  schedule: "schedule",
  run: "run",
  system: "the service",
  link: "a link to the approval",
};
const hasId = ({ type }: Actor): boolean => type === "person" || type === "api_key" || type === "run";

/** Who did something, with a link to it for those who may see it. */
export function ActorLink({ actor }: { actor: Actor }) {
  const { isAdmin } = useRole();
  const { type, id, name } = actor;
  const text = (
    <>
      {name ?? WORDS[type]} {!name && hasId(actor) && <span className="mono">{shortId(id)}</span>}
    </>
  );
  if (type === "run")
    return (
      <Link to="/runs/$runId" params={{ runId: id }}>
        {text}
      </Link>
    );
  if (type === "person" && isAdmin)
    return (
      <Link to="/members/$memberId" params={{ memberId: id }}>
        {text}
      </Link>
    );
  if (type === "api_key" && isAdmin)
    return (
      <Link to="/keys/$keyId" params={{ keyId: id }}>
        {text}
      </Link>
    );
  return <span>{text}</span>;
}
