package flags

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
)

func constant(key string, value int) Flag {
	return Flag{Key: key, Managed: true, Type: flageval.Numeric, Default: json.RawMessage(strconv.Itoa(value))}
}

// TestTable_IsLikeMap changes tables at random; every table that there was stays as it was.
func TestTable_IsLikeMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tables, models := []*table{new(table).with(nil, nil)}, []map[string]int{{}}
		keys := rapid.SampledFrom([]string{"", "a", "b", "aaaaa", "baaaa", "flag-1", "flag-2", "flag-3"})
		for step := range rapid.IntRange(1, 8).Draw(t, "steps") {
			from := rapid.IntRange(0, len(tables)-1).Draw(t, "from")
			model := maps.Clone(models[from])
			removed := rapid.SliceOfN(keys, 0, 3).Draw(t, "removed")
			for _, key := range removed {
				delete(model, key)
			}
			var set []Flag
			for _, key := range rapid.SliceOfN(keys, 0, 3).Draw(t, "set") {
				set = append(set, constant(key, step))
				model[key] = step
			}
			tables, models = append(tables, tables[from].with(set, removed)), append(models, model)
		}
		for i, each := range tables {
			got, bytes := map[string]int{}, 0
			for _, key := range each.keys() {
				value := each.find(key).flag.Evaluate("e", jsonlogic.Null()).Raw()
				got[key], _ = strconv.Atoi(string(value))
				bytes += each.find(key).bytes
			}
			if diff := cmp.Diff(models[i], got); diff != "" || bytes != each.bytes || !slices.IsSorted(each.keys()) {
				t.Fatalf("table %d has the keys %v and differs (-want +got):\n%s", i, each.keys(), diff)
			}
		}
	})
}

func TestTable_SharesWhatDidNotChange(t *testing.T) {
	t.Parallel()
	var many []Flag
	for i := range 9_000 {
		many = append(many, constant("flag-"+strconv.Itoa(i), i))
	}
	before := new(table).with(many, nil)
	largest := 0
	for _, shard := range before.shards {
		largest = max(largest, len(shard))
	}
	if largest > 4*len(many)/shardCount {
		t.Errorf("a change copies %d of %d flags", largest, len(many))
	}
	after, copied := before.with([]Flag{constant("flag-7", 0)}, []string{"flag-7"}), 0
	for i := range after.shards {
		if reflect.ValueOf(after.shards[i]).Pointer() != reflect.ValueOf(before.shards[i]).Pointer() {
			copied++
		}
	}
	if copied != 1 {
		t.Errorf("a change of one flag copies %d parts", copied)
	}
}
