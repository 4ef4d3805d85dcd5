import type { Resource } from "../api/kinds";
import { clientOf } from "../ui/device";

type Connection = Resource<"connection">;

/** byService returns the open connections of each service; connections without a service are left out. */
export function byService(connections: Connection[]): Map<string, Connection[]> {
  const found = new Map<string, Connection[]>();
  for (const connection of connections) {
    const { service } = connection.attributes;
    if (service) found.set(service, [...(found.get(service) ?? []), connection]);
  }
  return found;
}

/** clientsOf lists the libraries of connections with their versions, each once. */
export function clientsOf(connections: Connection[]): string {
  const names = connections.map(({ attributes }) => {
    const { name, version } = clientOf(attributes.client);
    return version ? `${name} ${version}` : name;
  });
  return [...new Set(names)].join(", ");
}

/** environmentsOf lists the environments of connections with their numbers. */
export function environmentsOf(connections: Connection[]): string {
  const counts = new Map<string, number>();
  for (const { attributes } of connections) {
    const place = attributes.environment ?? "somewhere";
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return [...counts].map(([place, count]) => (count > 1 ? `${place} × ${count}` : place)).join(", ");
}
