import { useQuery } from "@tanstack/react-query";
import { listKeys } from "../api/keys.ts";
import { listMembers } from "../api/members.ts";
import { whoAmI } from "../api/queries.ts";
import { useRole } from "../api/useRole.ts";
import { shortId } from "../format/index.ts";
import { SelectFilter } from "./Filter.tsx";
import { useFormerNames } from "./useFormer.ts";

interface Props {
  label: string;
  value: string | undefined;
  onPick(value?: string): void;
}

/** A label for people whose history this person may not read. */
const FORMER: Record<string, string> = { person: "former member", key: "deleted key" };

/** Somebody who is listed no more: the id tells them apart, as in lists. */
function formerChoice(value: string) {
  const [kind = "", id = ""] = value.split(":", 2);
  return { value, label: FORMER[kind] ? `${FORMER[kind]} ${shortId(id)}` : value };
}

/** Everybody who may have done something, as the service names them. Only administrators may list keys. */
export function WhoFilter({ label, value, onPick }: Props) {
  const { isAdmin } = useRole();
  const { data: me } = useQuery(whoAmI);
  const members = useQuery(listMembers());
  const keys = useQuery({ ...listKeys(), enabled: isAdmin });
  const former = useFormerNames();
  const others = (members.data?.data ?? []).filter(({ id }) => id !== me?.user.id);
  const choices = [
    ...(me ? [{ value: `person:${me.user.id}`, label: "me" }] : []),
    ...others.map(({ id, name, email }) => ({ value: `person:${id}`, label: name || email })),
    ...(keys.data?.data ?? []).map(({ id, name }) => ({ value: `key:${id}`, label: `key ${name}` })),
    ...[...former].map(([id, label]) => ({ value: `person:${id}`, label })),
  ];
  const isFormer = value !== undefined && members.data && !choices.some((choice) => choice.value === value);
  const shown = isFormer ? [...choices, formerChoice(value)] : choices;
  return <SelectFilter label={label} value={value} choices={shown} onPick={onPick} />;
}
