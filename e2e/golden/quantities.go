package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

// quantityCase is one text and what ParseQuantity makes of it.
type quantityCase struct {
	Text  string `json:"text"`
	Error string `json:"error,omitempty"`
	Milli int64  `json:"milli,omitempty"`
	Value int64  `json:"value,omitempty"`
	// Nanos is the exact amount in nano-units.
	Nanos string `json:"nanos,omitempty"`
}

// Texts that stand at an edge of the grammar or of the arithmetic.
var edges = []string{
	"", "0", "00", "-0", "+0", "1", "+1", "-1", "007", "100m", "0.1", ".5", "5.", "5.Gi", "0.5Gi", ".5Gi", "-.5Gi",
	"128974848", "128974848m", "129e6", "129M", "123Mi", "128974848000m", "1e3", "1E3", "1e+3", "1e-3", "1E-3",
	"1.3Gi", "1.4Gi", "1.5Gi", "3.5", "2.5", "1500m", "0.0001", "0.000000001", "0.0000000001", "-0.0000000001",
	"1n", "0.1n", "0.9n", "1.1n", "1u", "1m", "1k", "1M", "1G", "1T", "1P", "1E", "7E", "9E", "10E", "100E", "1000E",
	"1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", "7Ei", "8Ei", "9Ei", "1000Ei", "-8Ei", "-1E", "-7Ei", "7.9Ei",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551616", "9223372036854775807n",
	"9223372036854775807m", "9223372036854775", "9223372036854776", "9223372036854775807Ki", "9007199254740993",
	"99999999999999999999999999999999", "1e18", "1e19", "1e20", "1e28", "1e29", "1e30", "1e100", "1.5e100", "1e-8", "1e-9",
	"1e-10", "1e-100", "0e100", "0.0e-100", "0Ei", "0E", "000.000Pi", "0.000000000000000000000000000001Ei",
	"0.00000000000000000000000000001Ki", "1.00000000000000000000000000001", "1.0000000000Mi", "1.9999999999999Mi",
	"0.000000000931322574615478515625Gi", "0.000000000931322574615478515626Gi", "123456789012345678", "1234567890123456789",
	"12345678901234567.8", "0.123456789012345678", "1e4294967296", "1e99999999999999999999",
	".", "+", "-", "+.", "m", "k", "Ki", "Ti", "Pi", "Ei", ".Pi", "-Ei", "e5", "e-9", "e-10", "E", "Ee3", "e", "1e", "1i",
	"1K", "1ki", "1KI", "1mi", "1gi", "1B", "1GiB", "1GB", "1g", "1t", "1 Gi", " 1", "1 ", "1,5", "1_000", "0x10", "1..5",
	"1.5.5", "--1", "+-1", "1-1", "1+", "1-", "1e+", "1e-", "1e1.5", "1e1e1", "1Ee5", "1k5", "1Mi3", "1mm", "1kk", "NaN",
	"Inf", "infinity", "one", "1\n", "1\t", "\u0661", "1µ", "1m ", "100%", "½", "1E+18", "1E+", "1Ei5", "1eE5", "1n5", "n1",
	"1nu", "u", "n", "M1", "1.m", ".m", "-m", "1.e3", ".1e1", "-.1e-1", "+.5Ki", "10.0Ki", "1.0001Ki", "-1.0001Ki",
	"-1500m", "-1.5", "-0.5m", "-1n", "0.0005", "0.00051", "1.0005", "999999999n", "1000000001n", "1023.9Mi",
}

func quantities() []quantityCase {
	seen := map[string]bool{}
	var cases []quantityCase
	add := func(text string) {
		if !seen[text] {
			seen[text] = true
			cases = append(cases, quantityOf(text))
		}
	}
	for _, text := range edges {
		add(text)
	}
	random := rand.New(rand.NewPCG(1, 37))
	for len(cases) < 480 {
		add(randomQuantity(random))
	}
	return cases
}

func quantityOf(text string) quantityCase {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return quantityCase{Text: text, Error: err.Error()}
	}
	one := quantityCase{Text: text, Milli: quantity.MilliValue(), Value: quantity.Value()}
	one.Nanos = new(inf.Dec).Round(quantity.AsDec(), 9, inf.RoundUp).UnscaledBig().String()
	return one
}

func digits(random *rand.Rand, most int) string {
	var text strings.Builder
	for range random.IntN(most + 1) {
		fmt.Fprint(&text, random.IntN(10))
	}
	return text.String()
}

func pick[T any](random *rand.Rand, from ...T) T {
	return from[random.IntN(len(from))]
}

func randomQuantity(random *rand.Rand) string {
	text := pick(random, "", "", "", "", "+", "-") + digits(random, pick(random, 3, 6, 20))
	if random.IntN(2) == 0 {
		text += "." + digits(random, pick(random, 2, 10, 25))
	}
	switch random.IntN(10) {
	case 0:
		return text
	case 1, 2:
		return text + pick(random, "e", "E") + pick(random, "", "+", "-") + fmt.Sprint(random.IntN(25))
	case 3:
		// Mostly no quantity.
		return text + pick(random, "i", "mi", "GI", "e", "x", " ", "Kii", "e+-1", ".", "kG")
	default:
		return text + pick(random, "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
	}
}
