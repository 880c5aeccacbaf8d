import { delegateApproval } from "../../api/approvalPeople.ts";
import type { Approval } from "../../api/types.ts";
import { Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formText } from "../../parts/formText.ts";
import { Time } from "../../parts/Time.tsx";
import { useChange } from "../../parts/useChange.ts";
import { displayName } from "./displayName.ts";
import { PersonField } from "./PersonField.tsx";

/** The delegations of the approval: from whom, to whom. */
export function Delegations({ approval: { delegations, status } }: { approval: Approval }) {
  if (delegations.length === 0) return null;
  return (
    <ul className="plain" aria-label="Delegations">
      {delegations.map(({ by, to, reason, at, has_effect }) => (
        <li key={at}>
          {displayName(by)} delegated it to {displayName(to)} <Time at={at} />: “{reason}”
          {status === "pending" && !has_effect && " (without effect now)"}
        </li>
      ))}
    </ul>
  );
}

/** Delegates the approval to another person. */
export function Delegate({ approval }: { approval: Approval }) {
  const delegate = useChange("run", (form: FormData) =>
    delegateApproval(approval.id, { to: formText(form, "to"), reason: formText(form, "reason") }),
  );
  return (
    <details>
      <summary>Delegate</summary>
      <Form submit="Delegate it" isWithin send={delegate}>
        <p className="quiet">The other person decides instead of you, and sees your reason.</p>
        <PersonField name="to" label="To" />
        <FormField label="Why">
          <input name="reason" required maxLength={1_000} autoComplete="off" />
        </FormField>
      </Form>
    </details>
  );
}
