import { Alert, Anchor, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { wordFor } from "../api/kinds";
import { useCursorList } from "../api/queries";
import { type Gone, useGone } from "./gone";
import { RelativeTime } from "./RelativeTime";

/** GoneNotice says who deleted the resource of the page, if it was deleted. */
export function GoneNotice({ inForm = false }: { inForm?: boolean }) {
  const gone = useGone();
  return gone ? <Notice {...gone} inForm={inForm} /> : null;
}

function Notice({ kind, id, inForm }: Gone & { inForm: boolean }) {
  const { data } = useCursorList("change", { "filter[resource]": `${kind}:${id}`, "page[size]": 20 });
  const last = data?.pages[0]?.data[0]?.attributes;
  return (
    <Alert color="yellow" variant="light" p="xs" mb={inForm ? "sm" : undefined} role="status">
      <Group justify="space-between">
        <Text size="sm">
          {last?.action === "deleted" ? (
            <>
              Deleted by {last.actor.name}, <RelativeTime at={last.created_at} />.
            </>
          ) : (
            <>This {wordFor(kind)} was deleted.</>
          )}{" "}
          It cannot be changed any more.{inForm && " What you typed stays here, so that you can copy it."}
        </Text>
        <Anchor component={Link} to="/history" search={{ kind, id } as never} size="sm">
          Its history
        </Anchor>
      </Group>
    </Alert>
  );
}
