import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listAllKeys } from "../api/keys.ts";
import { listAllMembers } from "../api/members.ts";
import { listAgents } from "../api/nameLists.ts";
import { listProjects } from "../api/settings.ts";
import { budgetKey } from "../api/spending.ts";
import { useRole } from "../api/useRole.ts";
import { messageParts, type NamedSubject } from "../format/messageParts.ts";

const WORDS: Record<string, string> = { organization: "the organization", "each-user": "each end user" };

/** The name of a limit's subject; its kind if the person may not read the name, or it is unknown. */
function useName(subject: string): string {
  const [kind, id] = subject.split(":");
  const { isAdmin } = useRole();
  const lists = [
    useQuery({ ...listProjects, enabled: kind === "project" }),
    useQuery({ ...listAllKeys, enabled: kind === "key" && isAdmin }),
    useQuery({ ...listAllMembers, enabled: kind === "person" }),
    useQuery({ ...listAgents, enabled: kind === "agent" }),
  ];
  const things = lists.flatMap(({ data }): readonly { id: string; name: string }[] => data?.data ?? []);
  const found = things.find((thing) => thing.id === id)?.name;
  return WORDS[subject] ?? (found || (kind === "user" ? "an end user" : `this ${kind}`));
}

/** The subject of a limit. It links administrators to the budget. */
function Subject({ subject, model }: NamedSubject) {
  const { isAdmin } = useRole();
  const name = useName(subject);
  const text = model === null ? name : `${name} for ${model}`;
  return isAdmin ? (
    <Link to="/spending" search={{ edit: budgetKey({ subject, model }) }}>
      {text}
    </Link>
  ) : (
    text
  );
}

/** A message of the service with readable times, amounts and names. */
export const ServiceMessage = ({ text }: { text: string }) =>
  messageParts(text).map((part, n) =>
    // the parts of a message never change their order
    typeof part === "string" ? part : <Subject key={n} {...part} />,
  );
