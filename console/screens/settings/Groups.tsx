import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listGroups, readGroup, removeGroup, setGroup, type Group } from "../../api/groups.ts";
import { listAllMembers } from "../../api/members.ts";
import { useRole } from "../../api/useRole.ts";
import type { Action } from "../../parts/action.ts";
import { Checkbox, Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formText, formTexts } from "../../parts/formText.ts";
import { EmptyState, ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { removalColumn } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { OverwriteRefusal } from "../../parts/OverwriteRefusal.ts";
import { UnlistedChoices } from "../../parts/UnlistedChoices.tsx";
import { useSaveForm } from "../../parts/useSaveForm.ts";
import { useChange } from "../../parts/useChange.ts";

const COLUMNS: Columns<Group> = [
  { title: "Group", cell: ({ group }) => <span className="mono">{group}</span> },
  { title: "People", cell: ({ members }) => members.map(({ name }) => name).join(", ") || "nobody any more" },
];

const editable = (removal: Action<string>): Columns<Group> => [
  {
    title: "Group",
    cell: ({ group }) => (
      <Link className="mono" to="/settings" search={{ section: "groups", edit: group }} data-row>
        {group}
      </Link>
    ),
  },
  ...COLUMNS.slice(1),
  removalColumn<Group>(removal, ({ group }) => ({
    id: group,
    question: `Remove the group “${group}”? Nobody decides its approvals in its name any more.`,
  })),
];

/** Throws an OverwriteRefusal if a group has this name, because this form does not show its members. */
async function createGroup(form: FormData): Promise<Group> {
  const group = formText(form, "group").trim();
  if (await readGroup(group))
    throw new OverwriteRefusal(`the group “${group}”`, { to: "/settings", search: { section: "groups", edit: group } });
  return setGroup(group, formTexts(form, "members"));
}

/** A checkbox for each person. Members without a checkbox stay in the group. */
function People({ chosen }: { chosen: string[] }) {
  const people = useQuery(listAllMembers);
  const listed = people.data?.data;
  return (
    // remounts once the people are known
    <fieldset key={String(listed === undefined)}>
      <legend>People</legend>
      <QueryResult query={people} what="members">
        {({ data }) =>
          data.map(({ id, name, email }) => (
            <Checkbox key={id} name="members" value={id} label={name} hint={email} isChecked={chosen.includes(id)} />
          ))
        }
      </QueryResult>
      <UnlistedChoices
        name="members"
        chosen={chosen}
        listed={listed?.map(({ id }) => id)}
        isWhole={people.data?.isWhole ?? false}
      />
    </fieldset>
  );
}

function GroupForm({ group }: { group: Group | undefined }) {
  const { send, formKey } = useSaveForm({
    kind: "group",
    edit: group?.group,
    back: { to: "/settings", search: { section: "groups" } },
    save: async (form) =>
      group ? setGroup(group.group, formTexts(form, "members"), group.updated_at) : createGroup(form),
  });
  return (
    <Form
      // remounts when another person has changed the group, so that the form always edits the shown version
      key={`${group?.group} ${group?.updated_at} ${formKey}`}
      submit={group ? "Change group" : "Create group"}
      done={group ? undefined : "Saved."}
      send={send}
    >
      <h2>{group ? `Who is in ${group.group}` : "A new group"}</h2>
      {!group && (
        <FormField label="Name" hint="Lower-case letters, digits, dots, hyphens and underscores.">
          <input name="group" required maxLength={64} autoComplete="off" spellCheck={false} placeholder="legal" />
        </FormField>
      )}
      <People chosen={group?.members.map(({ id }) => id) ?? []} />
    </Form>
  );
}

/** Named groups of people, which approvals and documents refer to. */
export function Groups({ edit }: { edit: string | undefined }) {
  const { isAdmin } = useRole();
  const groups = useQuery(listGroups);
  const removal = useChange("group", removeGroup);
  return (
    <QueryResult query={groups} what="groups">
      {({ data }) => (
        <>
          {removal.isError && <ErrorNotice error={removal.error} />}
          {data.length === 0 ? (
            <EmptyState title="There are no groups">
              <p>A group is people under one name. Approvals name it as assignee, and documents as reader.</p>
            </EmptyState>
          ) : (
            <Table
              caption="Groups"
              columns={isAdmin ? editable(removal) : COLUMNS}
              rows={data}
              rowKey={({ group }) => group}
            />
          )}
          {isAdmin && <GroupForm group={data.find(({ group }) => group === edit)} />}
        </>
      )}
    </QueryResult>
  );
}
