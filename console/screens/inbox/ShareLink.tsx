import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createLink, listLinks, revokeLink, type ApprovalLink } from "../../api/approvalLinks.ts";
import { Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formText } from "../../parts/formText.ts";
import { ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { OneTimeSecret } from "../../parts/OneTimeSecret.tsx";
import { Time } from "../../parts/Time.tsx";
import { useChange } from "../../parts/useChange.ts";

const DAY_S = 24 * 60 * 60;
const LIVES = [
  { seconds: DAY_S, label: "a day" },
  { seconds: 7 * DAY_S, label: "a week" },
  { seconds: 30 * DAY_S, label: "a month" },
];

function Links({ approval, links }: { approval: string; links: ApprovalLink[] }) {
  const removal = useChange("run", (id: string) => revokeLink(approval, id));
  return (
    <>
      {removal.isError && <ErrorNotice error={removal.error} />}
      <ul className="plain">
        {links.map(({ id, status, for: { name }, created_by, expires_at }) => (
          <li key={id}>
            For {name ?? "anybody who has it"}, from {created_by.name ?? "somebody who is no longer here"}:{" "}
            {status === "active" ? (
              <>
                active until <Time at={expires_at} />{" "}
                <RemoveButton
                  id={id}
                  label="Revoke"
                  about={`the link for ${name ?? "anybody who has it"}`}
                  question="Revoke this link?"
                  removal={removal}
                />
              </>
            ) : (
              status
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Creates a link with which a person without an account decides, and lists the existing links. */
export function ShareLink({ approval }: { approval: string }) {
  const queries = useQueryClient();
  const links = useQuery(listLinks(approval));
  const create = useMutation({
    mutationFn: (form: FormData) =>
      createLink(approval, {
        expires_in: Number(formText(form, "expires_in")),
        for: { name: formText(form, "name").trim() || null },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: listLinks(approval).queryKey }),
  });
  return (
    <details>
      <summary>Share a link</summary>
      <Form submit="Create a link" isWithin send={create}>
        <p className="quiet">
          Whoever has the link decides in your place, once and without an account. They see this question and nothing
          else.
        </p>
        <FormField label="For whom" note="optional">
          <input name="name" maxLength={200} autoComplete="off" />
        </FormField>
        <FormField label="Works for">
          <select name="expires_in" defaultValue={7 * DAY_S}>
            {LIVES.map(({ seconds, label }) => (
              <option key={seconds} value={seconds}>
                {label}
              </option>
            ))}
          </select>
        </FormField>
      </Form>
      {create.data && (
        <OneTimeSecret title="The link" secret={create.data.url}>
          Send it to one person only. It can be revoked here.
        </OneTimeSecret>
      )}
      <QueryResult query={links} what="links">
        {({ data }) => data.length > 0 && <Links approval={approval} links={data} />}
      </QueryResult>
    </details>
  );
}
