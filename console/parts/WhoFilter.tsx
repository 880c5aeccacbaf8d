import { useQuery } from "@tanstack/react-query";
import { listKeys } from "../api/keys.ts";
import { listMembers } from "../api/members.ts";
import { whoAmI } from "../api/queries.ts";
import { useRole } from "../api/useRole.ts";
import { SelectFilter } from "./Filter.tsx";

interface Props {
  label: string;
  value: string | undefined;
  onPick(value?: string): void;
}

/** Everybody who may have done something, as the service names them. Only administrators may list keys. */
export function WhoFilter({ label, value, onPick }: Props) {
  const { isAdmin } = useRole();
  const { data: me } = useQuery(whoAmI);
  const members = useQuery(listMembers());
  const keys = useQuery({ ...listKeys(), enabled: isAdmin });
  const others = (members.data?.data ?? []).filter(({ id }) => id !== me?.user.id);
  const choices = [
    ...(me ? [{ value: `person:${me.user.id}`, label: "me" }] : []),
    ...others.map(({ id, name, email }) => ({ value: `person:${id}`, label: name || email })),
    ...(keys.data?.data ?? []).map(({ id, name }) => ({ value: `key:${id}`, label: `key ${name}` })),
  ];
  return <SelectFilter label={label} value={value} choices={choices} onPick={onPick} />;
}
