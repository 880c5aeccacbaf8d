import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { createAgent } from "../../api/build.ts";
import { Form } from "../../parts/Form.tsx";
import { ForBuilders } from "../../parts/ForRole.tsx";
import { useLocationKey } from "../../parts/useLocationKey.ts";
import { AgentFields, NEW_AGENT, readAgent } from "./AgentFields.tsx";

export function NewAgent() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const where = useLocationKey();
  const create = useMutation({
    mutationFn: async (form: FormData) => createAgent(readAgent(form)),
    onMutate: where,
    onSuccess: async ({ id }, _form, began) => {
      await queries.invalidateQueries({ queryKey: ["agent"] });
      if (where() === began) await navigate({ to: "/agents/$agentId", params: { agentId: id } });
    },
  });
  return (
    <ForBuilders what="New agent">
      <section className="screen narrow" aria-labelledby="title">
        <p>
          <Link to="/agents">← Agents</Link>
        </p>
        <h1 id="title">New agent</h1>
        <Form submit="Create agent" send={create}>
          <AgentFields settings={NEW_AGENT} />
        </Form>
      </section>
    </ForBuilders>
  );
}
