import { useQuery } from "@tanstack/react-query";
import { listAllKeys } from "../api/keys.ts";
import { listAllMembers } from "../api/members.ts";
import { getSession } from "../api/queries.ts";
import { useRole } from "../api/useRole.ts";
import { listedChoices } from "./Choices.tsx";
import { SelectFilter } from "./Filter.tsx";
import { unlistedPrincipal } from "./unlistedPrincipal.ts";
import { useFormerNames } from "./useFormerNames.ts";

interface Props {
  label: string;
  value: string | undefined;
  onPick(value?: string): void;
}

/** All possible actors, as the service names them. Only administrators may list keys. */
export function PrincipalFilter({ label, value, onPick }: Props) {
  const { isAdmin } = useRole();
  const { data: me } = useQuery(getSession);
  const { data: members } = useQuery(listAllMembers);
  const { data: keys } = useQuery({ ...listAllKeys, enabled: isAdmin });
  const former = useFormerNames();
  const others = members && { ...members, data: members.data.filter(({ id }) => id !== me?.user.id) };
  const choices = [
    ...(me ? [{ value: `person:${me.user.id}`, label: "me" }] : []),
    ...listedChoices(others, "members", ({ id, name, email }) => ({ value: `person:${id}`, label: name || email })),
    ...listedChoices(keys, "keys", ({ id, name }) => ({ value: `key:${id}`, label: `key ${name}` })),
    ...[...former].map(([id, name]) => ({ value: `person:${id}`, label: name })),
  ];
  const isUnlisted = value !== undefined && !choices.some((choice) => choice.value === value);
  const shown = isUnlisted ? [...choices, unlistedPrincipal(value, { person: members, key: keys })] : choices;
  return <SelectFilter label={label} value={value} choices={shown} onPick={onPick} />;
}
