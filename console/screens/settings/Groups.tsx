import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listGroups, removeGroup, setGroup, type Group } from "../../api/groups.ts";
import { listMembers } from "../../api/members.ts";
import { useRole } from "../../api/useRole.ts";
import type { Action } from "../../parts/action.ts";
import { Check, Form } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { Empty, ErrorNotice, Loaded } from "../../parts/Notices.tsx";
import { RemoveButton, useRemoval } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { useSaving } from "../../parts/useSaving.ts";

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
  {
    title: "Actions",
    cell: ({ group }) => (
      <RemoveButton
        id={group}
        label="Remove"
        question={`Remove the group “${group}”? Nobody decides its approvals in its name any more.`}
        removal={removal}
      />
    ),
  },
];

function GroupForm({ group }: { group: Group | undefined }) {
  const people = useQuery(listMembers());
  const { send, formKey } = useSaving({
    kind: "group",
    back: { to: "/settings", search: { section: "groups" } },
    save: async (form) =>
      setGroup(
        group?.group ?? formText(form, "group").trim(),
        form.getAll("members").filter((id): id is string => typeof id === "string"),
      ),
  });
  return (
    <Form
      key={`${group?.group} ${formKey}`}
      submit={group ? "Change group" : "Create group"}
      done={group ? undefined : "Saved."}
      send={send}
    >
      <h2>{group ? `Who is in ${group.group}` : "A new group"}</h2>
      {!group && (
        <label>
          <span>Name</span>
          <span className="quiet">Lower-case letters, digits, dots, hyphens and underscores.</span>
          <input name="group" required maxLength={64} autoComplete="off" spellCheck={false} placeholder="legal" />
        </label>
      )}
      <fieldset>
        <legend>People</legend>
        {people.data?.data.map(({ id, name, email }) => (
          <Check
            key={id}
            name="members"
            value={id}
            label={name}
            hint={email}
            isChecked={group?.members.some((member) => member.id === id) === true}
          />
        ))}
      </fieldset>
    </Form>
  );
}

/** People under one name, whom approvals and documents name. */
export function Groups({ edit }: { edit: string | undefined }) {
  const { isAdmin } = useRole();
  const groups = useQuery(listGroups);
  const removal = useRemoval("group", removeGroup);
  return (
    <Loaded query={groups} what="groups">
      {({ data }) => (
        <>
          {removal.isError && <ErrorNotice error={removal.error} />}
          {data.length === 0 ? (
            <Empty title="There are no groups">
              <p>A group is people under one name. Approvals name it as assignee, and documents as reader.</p>
            </Empty>
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
    </Loaded>
  );
}
