package flagd

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

// bucket is one part of a fractional.
type bucket struct {
	variant node
	weight  int64
}

// fractional translates an operation that has a fractional among its arguments. with translates the operation with a value in
// place of the fractional. fractional calls it for each value that the fractional can have, and lets a new fractional choose
// among the results: the labels of its buckets are the indexes of the results.
func (t *translation) fractional(arguments []node, with func(node) (node, error)) (node, error) {
	if t.scoped {
		return node{}, errors.New("it has a fractional inside of a loop")
	}
	by, list := jsonlogic.Null(), arguments
	if len(list) > 0 && (list[0].Kind() != jsonlogic.KindArray || isAttribute(list[0])) {
		by, list = list[0], list[1:]
	}
	absent, err := with(jsonlogic.Null())
	if err != nil {
		return node{}, err
	}
	buckets, valid, err := parseBuckets(list)
	isKey := by.Kind() == jsonlogic.KindNull || t.kindOf(by) == aText || isAttribute(by)
	if err != nil || !valid || !isKey {
		return absent, err
	}
	t.splits = true
	if by.Kind() == jsonlogic.KindNull {
		return t.byTargetingKey(buckets, absent, with)
	}
	parts, err := t.parts(by)
	if err != nil {
		return node{}, err
	}
	if len(parts) == 1 && !isLiteral(parts[0]) {
		return t.split(parts, buckets, with)
	}
	return t.split([]node{apply("cat", parts...)}, buckets, with)
}

// byTargetingKey translates a fractional that hashes the flag's key and the targeting key. The server takes the key of the user if
// there is no targeting key; flagd does not, so the text to hash is then spelled out.
func (t *translation) byTargetingKey(buckets []bucket, absent node, with func(node) (node, error)) (node, error) {
	result := absent
	for _, path := range []string{"key", userKey, targetingKey} {
		var by []node
		if path != targetingKey {
			by = []node{apply("cat", jsonlogic.String(t.key), read(path))}
		}
		given, err := t.split(by, buckets, with)
		if err != nil {
			return node{}, err
		}
		given = choose(isTruthy(read(path)), given, absent)
		result = choose(hasValue(path), given, result)
	}
	return result, nil
}

// split translates an operation with a fractional that has a key to hash.
func (t *translation) split(by []node, buckets []bucket, with func(node) (node, error)) (node, error) {
	var results []node
	var labels []bucket
	for _, each := range buckets {
		result, err := with(each.variant)
		if err != nil {
			return node{}, err
		}
		place := slices.IndexFunc(results, func(earlier node) bool { return same(earlier, result) })
		if place < 0 {
			place, results = len(results), append(results, result)
		}
		label := jsonlogic.String(strconv.Itoa(place))
		if last := len(labels) - 1; last >= 0 && same(labels[last].variant, label) {
			labels[last].weight += each.weight
			continue
		}
		labels = append(labels, bucket{label, each.weight})
	}
	arguments := slices.Clone(by)
	for _, each := range labels {
		arguments = append(arguments, jsonlogic.Array(each.variant, jsonlogic.Number(float64(each.weight))))
	}
	made := results[len(results)-1]
	for place, result := range slices.Backward(results[:len(results)-1]) {
		chosen := apply("===", apply("fractional", arguments...), jsonlogic.String(strconv.Itoa(place)))
		made = choose(chosen, result, made)
	}
	return made, nil
}

// parseBuckets reads buckets as the server does: a scalar and an integer weight, 1 by default. It returns false if the server's
// result is always null.
func parseBuckets(list []node) (buckets []bucket, valid bool, err error) {
	total := int64(0)
	for _, each := range list {
		if !isLiteral(each) {
			return nil, false, errors.New("it computes the parts of a fractional")
		}
		entry := each.Items()
		if len(entry) == 0 || entry[0].Kind() >= jsonlogic.KindArray {
			return nil, false, nil
		}
		weight := int64(1)
		if len(entry) > 1 && entry[1].Kind() != jsonlogic.KindNull {
			float, isNumber := entry[1].Float()
			if !isNumber || float != math.Trunc(float) || float > math.MaxInt32 {
				return nil, false, nil
			}
			weight = int64(max(float, 0))
		}
		if total += weight; weight > 0 {
			buckets = append(buckets, bucket{entry[0], weight})
		}
	}
	return buckets, total > 0 && total <= math.MaxInt32, nil
}
